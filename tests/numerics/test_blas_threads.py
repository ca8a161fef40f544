"""A flow has one BLAS thread, and what comes after has what it had."""

from threadpoolctl import threadpool_info, threadpool_limits

from tacit.numerics.blas_threads import with_one_blas_thread


def threads() -> list[int]:
    """Of every BLAS in this process; one that a solver brought may keep to a single thread."""
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_inside_there_is_one_and_outside_as_many_as_before() -> None:
    with threadpool_limits(limits=2, user_api="blas"):
        before = threads()
        assert max(before) == 2
        assert set(with_one_blas_thread(threads)()) == {1}
        assert threads() == before

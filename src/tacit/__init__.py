"""Which of all the solutions does gradient descent pick, why, and is it the best one?"""

__version__ = "0.1.0"

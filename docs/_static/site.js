// A picture of many panels is small beside the text: a click shows it in its full size.
addEventListener("DOMContentLoaded", () => {
  for (const picture of document.querySelectorAll("article img")) {
    if (picture.closest("a")) continue;
    const link = document.createElement("a");
    link.href = picture.src;
    picture.classList.add("opens");
    picture.replaceWith(link);
    link.append(picture);
  }
});

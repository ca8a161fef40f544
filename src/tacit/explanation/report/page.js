for (const button of document.querySelectorAll(".copied button")) {
  button.hidden = false; // without scripts there is no button
  button.addEventListener("click", () => {
    getSelection().selectAllChildren(button.previousElementSibling);
    button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
  });
}

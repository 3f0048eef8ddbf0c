// Adds a button to each block of code, which copies its text.
"use strict";
for (const block of document.querySelectorAll("main pre")) {
  const frame = document.createElement("div");
  const button = document.createElement("button");
  frame.className = "copied";
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    } catch {
      // Pages of another address than localhost have a clipboard over HTTPS only: the text is selected instead.
      getSelection().selectAllChildren(block);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.replaceWith(frame);
  frame.append(block, button);
}

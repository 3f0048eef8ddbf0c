// Before the first paint: the colors that this browser chose in the footer.
const chosen = localStorage.getItem("quad.theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;

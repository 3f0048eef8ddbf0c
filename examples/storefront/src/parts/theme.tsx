import { useState } from "preact/hooks";

/** Read by public/theme.js before the first paint. */
const NAME = "quad.theme";

/** The choice between light and dark. The device's own choice is not stored. */
export function ThemeChoice() {
  const [chosen, choose] = useState(document.documentElement.dataset["theme"] ?? "");
  const change = (theme: string) => {
    choose(theme);
    if (theme === "") {
      localStorage.removeItem(NAME);
      delete document.documentElement.dataset["theme"];
    } else {
      localStorage.setItem(NAME, theme);
      document.documentElement.dataset["theme"] = theme;
    }
  };
  return (
    <label class="theme">
      Colors
      <select value={chosen} onChange={(event) => change(event.currentTarget.value)}>
        <option value="">as the device</option>
        <option value="light">light</option>
        <option value="dark">dark</option>
      </select>
    </label>
  );
}

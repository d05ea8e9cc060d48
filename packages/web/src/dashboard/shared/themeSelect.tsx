import { useState } from "preact/hooks";

const THEMES = { "light dark": "as the device", light: "light", dark: "dark" };
/** The name of the stored theme in the browser. */
const KEY = "keyroot-theme";

/** Applies the theme that the person chose earlier in this browser. */
export function applyTheme(): string {
  const theme = localStorage.getItem(KEY) ?? "";
  const known = Object.hasOwn(THEMES, theme) ? theme : "light dark";
  document.documentElement.style.colorScheme = known;
  return known;
}

/** Lets the person choose light or dark colors. */
export function ThemeSelect() {
  const [theme, setTheme] = useState(applyTheme);
  return (
    <label class="theme">
      Colors:{" "}
      <select
        value={theme}
        onChange={({ currentTarget }) => {
          localStorage.setItem(KEY, currentTarget.value);
          setTheme(applyTheme());
        }}
      >
        {Object.entries(THEMES).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

import { useState } from "preact/hooks";
import { Select } from "../../shared/form.tsx";

const THEMES = [
  ["device", "as the device"],
  ["light", "light"],
  ["dark", "dark"],
] as const;
/** The name of the stored theme in the browser. */
const KEY = "keyroot-theme";

/** Applies the theme that the person chose earlier in this browser. `base.css` has its colors. */
export function applyTheme(): string {
  const stored = localStorage.getItem(KEY);
  const [theme] = THEMES.find(([name]) => name === stored) ?? THEMES[0];
  document.documentElement.dataset["theme"] = theme;
  return theme;
}

/** Lets the person choose light or dark colors. */
export function ThemeSelect() {
  const [theme, setTheme] = useState(applyTheme);
  const set = (value: string) => {
    localStorage.setItem(KEY, value);
    setTheme(applyTheme());
  };
  return (
    <div class="theme">
      <Select label="Colors" value={theme} set={set} options={THEMES} />
    </div>
  );
}

import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./shared/themeSelect.tsx";

applyTheme();
const app = document.getElementById("app");
if (app !== null) {
  app.replaceChildren();
  render(<App />, app);
}

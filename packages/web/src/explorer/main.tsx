import { render } from "preact";
import { App } from "./app.tsx";
import { narrowPolicy } from "./config.ts";
import { startWorker } from "./workers.ts";

narrowPolicy();
// Fetched while the page is drawn. A failure shows when the worker is needed.
startWorker("basic").catch(() => undefined);
// In a task of its own: this one also ends the loading of the page, with a layout.
setTimeout(() => {
  const app = document.getElementById("app");
  if (app === null) return;
  app.replaceChildren();
  render(<App />, app);
});

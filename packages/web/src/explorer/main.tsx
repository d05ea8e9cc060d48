import { render } from "preact";
import { App } from "./app.tsx";
import { narrowPolicy } from "./config.ts";
import { startWorker } from "./workers.ts";

narrowPolicy();
// Fetched while the page is drawn. A failure shows when the worker is needed.
startWorker("basic").catch(() => undefined);
const app = document.getElementById("app");
if (app !== null) {
  app.replaceChildren();
  render(<App />, app);
}

import { render } from "preact";
import { App } from "./app.tsx";
import { narrowPolicy } from "./shared/narrowPolicy.ts";
import { startWorker } from "./shared/callWorker.ts";

narrowPolicy();
// The worker loads while the page is rendered. If loading fails, the first call to the worker reports the failure.
startWorker("basic").catch(() => undefined);
// Render in a separate task, because the current task already includes the first layout.
setTimeout(() => {
  const app = document.getElementById("app");
  if (app === null) return;
  app.replaceChildren();
  render(<App />, app);
});

import { render } from "preact";
import { App } from "./app.tsx";
import { narrowPolicy } from "./shared/narrowPolicy.ts";
import { startWorker } from "./worker/callWorker.ts";

narrowPolicy();
// Loads while the page is rendered. The first call reports a failure.
startWorker("basic").catch(() => undefined);
// A separate task, because the current one also includes the first layout.
setTimeout(() => {
  const app = document.getElementById("app");
  if (app === null) return;
  app.replaceChildren();
  render(<App />, app);
});

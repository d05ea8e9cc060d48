import { render } from "preact";
import { App } from "./app.tsx";
import { narrowPolicy } from "./shared/narrowPolicy.ts";
import { preloadWorker } from "./shared/callWorker.ts";

narrowPolicy();
// On the start page, the verifier is loaded as soon as a visitor enters something.
if (location.hash.startsWith("#/verify/")) preloadWorker();
else addEventListener("input", preloadWorker, { once: true });
// Render in a separate task, because the current task already includes the first layout.
setTimeout(() => {
  const app = document.getElementById("app");
  if (app === null) return;
  app.replaceChildren();
  render(<App />, app);
});

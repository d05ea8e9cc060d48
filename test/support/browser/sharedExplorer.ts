import { ExplorerWorld } from "./explorerWorld.ts";
import { closePagesAfterEach } from "./observedPage.ts";

const world = new ExplorerWorld();
let starting: Promise<string> | undefined;
after(() => world.stop());

/**
 * The stack, attacker and Chromium that all tests of the explorer share, and the URL of the stack's explorer. The pages
 * that a test opens are closed at its end.
 */
export function sharedExplorer(): { readonly world: ExplorerWorld; readonly url: string } {
  let url = "";
  before(async () => {
    url = await (starting ??= world.start().then(() => world.serve()));
  });
  closePagesAfterEach();
  return {
    world,
    get url() {
      return url;
    },
  };
}

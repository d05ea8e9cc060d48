import { ExplorerWorld } from "./explorerWorld.ts";

const world = new ExplorerWorld();
let starting: Promise<string> | undefined;
after(() => world.stop());

/** The stack, attacker and Chromium that all tests of the explorer share, and the URL of the stack's explorer. */
export function sharedExplorer(): { readonly world: ExplorerWorld; readonly url: string } {
  let url = "";
  before(async () => {
    url = await (starting ??= world.start().then(() => world.serve()));
  });
  return {
    world,
    get url() {
      return url;
    },
  };
}

import { useState } from "preact/hooks";
import favicon from "../shared/favicon.svg";
import { shorten } from "../shared/format.ts";
import { SkipLink, usePage } from "../shared/page.tsx";
import { type Route, useRoute } from "../shared/router.ts";
import { BatchPage } from "./batch/batchPage.tsx";
import { BuildHashes } from "./buildHashes.tsx";
import { BundlePage } from "./bundle/bundlePage.tsx";
import { config } from "./shared/config.ts";
import { useDroppedFile } from "./shared/useDroppedFile.ts";
import { defaultChoice, linkedChoice } from "./verify/evidenceChoice.ts";
import { HomePage, NotFoundPage } from "./home/homePage.tsx";
import { ListPage } from "./list/listPage.tsx";
import { VerifyPage } from "./verify/verifyPage.tsx";
import { AttackBoard } from "./attacks/attackBoard.tsx";

const TITLES: Readonly<Record<string, string>> = {
  "": "Is this really their key?",
  verify: "Verify a key",
  batch: "All keys of a file",
  bundle: "Verify a bundle",
  list: "Verify a contact list",
  attacks: "All attacks, live",
};

/** The explorer: a header, the page of the current address, and a footer. */
export function App() {
  const route = useRoute();
  const [section = "", detail = ""] = route;
  const title = Object.hasOwn(TITLES, section) ? TITLES[section] : "There is no such page";
  const subject = detail === "" ? "" : `${shorten(detail)} · `;
  const main = usePage(`${subject}${title} · Keyroot explorer`, `${section}/${detail}`);
  return (
    <>
      <SkipLink main={main} />
      <header class="header">
        <a class="brand" href="#/">
          <img src={favicon} alt="" width="28" height="28" /> Keyroot <span>explorer</span>
        </a>
        <nav aria-label="Pages">
          <NavLink route={["list"]} current={section} text="Contacts" />
          <NavLink route={["bundle"]} current={section} text="Bundle" />
          {config.attacks && <NavLink route={["attacks"]} current={section} text="Attacks" />}
        </nav>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <Page route={route} />
      </main>
      <footer class="footer">
        <p>
          <b>Limits of this page.</b> Its code comes from <code>{location.host || "this host"}</code>. Whoever controls
          this host could serve code that shows a wrong result. To rely on your own machine only, run the command that
          is shown with each result.
        </p>
        <BuildHashes />
        <p>
          <a href="./licenses.txt">Licenses</a>
        </p>
      </footer>
    </>
  );
}

function NavLink({ route, current, text }: { route: Route; current: string; text: string }) {
  const [section = ""] = route;
  return (
    <a href={`#/${route.join("/")}`} aria-current={current === section ? "page" : undefined}>
      {text}
    </a>
  );
}

function Page({ route }: { route: Route }) {
  const [choice, setChoice] = useState(defaultChoice);
  const [entered, setEntered] = useState("");
  const dropped = useDroppedFile();
  const [section, detail = "", more = ""] = route;
  switch (section) {
    case undefined:
      return <HomePage setEntered={setEntered} />;
    case "verify":
      return <VerifyPage id={detail} entered={entered} choice={linkedChoice(choice, more)} setChoice={setChoice} />;
    case "batch":
      return <BatchPage root={detail} userID={more} file={dropped.batches.get(detail)} />;
    case "bundle":
      return <BundlePage dropped={dropped.bundle} />;
    case "list":
      return <ListPage dropped={dropped.list} choice={choice} setChoice={setChoice} />;
    case "attacks":
      return config.attacks ? <AttackBoard attacks={config.attacks} /> : <NotFoundPage />;
    default:
      return <NotFoundPage />;
  }
}

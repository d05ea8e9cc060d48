import { useEffect, useState } from "preact/hooks";
import { SkipLink, usePage } from "../shared/page.tsx";
import { go, type Route, useRoute } from "../shared/router.ts";
import { BatchPage } from "./batch/batchPage.tsx";
import { BuildHashes } from "./buildHashes.tsx";
import { BundlePage } from "./bundlePage.tsx";
import { config } from "./config.ts";
import { defaultChoice } from "./evidenceChoice.ts";
import favicon from "../shared/favicon.svg";
import { AttackPage, AttacksPage, HomePage, NotFoundPage, VerifyPage } from "./pages.tsx";

const TITLES: Readonly<Record<string, string>> = {
  verify: "Verify a key",
  batch: "All keys of a file",
  bundle: "Verify a bundle",
  attacks: "Try the attack",
  attack: "Attack",
};

/** The page: header, the part that the address names, footer. */
export function App() {
  const route = useRoute();
  const [section = "", detail = ""] = route;
  const title = TITLES[section] ?? "Is this really their key?";
  const main = usePage(`${title} · Keyroot explorer`, `${section}/${detail}`);
  return (
    <>
      <SkipLink main={main} />
      <header class="header">
        <a class="brand" href="#/">
          <img src={favicon} alt="" width="28" height="28" /> Keyroot <span>explorer</span>
        </a>
        <nav aria-label="Pages">
          <NavLink route={["bundle"]} current={section} text="Bundle" />
          {config.attacks && <NavLink route={["attacks"]} current={section} text="Attacks" />}
        </nav>
      </header>
      <main id="main" tabIndex={-1} ref={main}>
        <Page route={route} />
      </main>
      <footer class="footer">
        <p>
          <b>What this page cannot promise.</b> Its code comes from <code>{location.host || "this host"}</code>. Whoever
          controls that host could serve code that shows a wrong result. To rely on nothing but your own machine, run
          the command that is shown with each result.
        </p>
        <BuildHashes />
        <p>
          <a href="./licenses.txt">Licenses</a>
        </p>
      </footer>
    </>
  );
}

/** The file that was dropped on the page last. It opens the page for bundles. */
function useDroppedFile(): File | undefined {
  const [file, setFile] = useState<File>();
  useEffect(() => {
    const allow = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const dropped = event.dataTransfer?.files[0];
      if (dropped === undefined) return;
      event.preventDefault();
      setFile(dropped);
      go("bundle");
    };
    addEventListener("dragover", allow);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", allow);
      removeEventListener("drop", drop);
    };
  }, []);
  return file;
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
  const dropped = useDroppedFile();
  const [section, detail = "", userID = ""] = route;
  switch (section) {
    case undefined:
      return <HomePage />;
    case "verify":
      return <VerifyPage id={detail} choice={choice} setChoice={setChoice} />;
    case "batch":
      return <BatchPage root={detail} userID={userID} />;
    case "bundle":
      return <BundlePage dropped={dropped} />;
    case "attacks":
      return <AttacksPage />;
    case "attack":
      return <AttackPage key={detail} name={detail} />;
    default:
      return <NotFoundPage />;
  }
}

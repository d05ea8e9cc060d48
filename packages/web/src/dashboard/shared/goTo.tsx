import { useEffect, useState } from "preact/hooks";
import { plural, shorten } from "../../shared/format.ts";
import { Form, TextField } from "../../shared/form.tsx";
import { Icon } from "../../shared/icon.tsx";
import { isBeginningOfUserID, readUserID } from "../../shared/readUserID.ts";
import { useWindowEvent } from "../../shared/useWindowEvent.ts";
import { call, type Me } from "./api.ts";
import { Failure } from "./cards.tsx";
import { Dialog } from "./dialogs.tsx";
import { moveBetweenLinks } from "./moveBetweenLinks.ts";
import type { CallError } from "./send.ts";
import { toCallError } from "./useCall.ts";

/** Time in ms without input after which the service is asked. */
const PAUSE_MS = 150;
/** Maximum number of users or partners that the service is asked for. */
const MOST = 5;
/** Maximum number of batches among which a root is searched. */
const NEWEST_BATCHES = 100;
/** Minimum length of the beginning of a root. */
const SHORTEST_ROOT = 4;

interface GoToProps {
  me: Me;
  /** The titles of the pages, by the pages' names in the address. */
  pages: Readonly<Record<string, string>>;
}

/** What the dialog can open: a page, a user, a batch or a partner. */
interface Place {
  kind: string;
  name: string;
  href: string;
}

/** A button that opens a dialog to go to a page, a user or a batch. Ctrl-K opens it, too. */
export function GoTo(props: GoToProps) {
  const [isOpen, setOpen] = useState(false);
  useWindowEvent("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    if (document.querySelector("dialog[open]") === null) setOpen(true);
  });
  return (
    <>
      <button
        type="button"
        class="icon-button"
        aria-label="Go to"
        aria-keyshortcuts="Control+K Meta+K"
        title="Go to (Ctrl K)"
        onClick={() => {
          setOpen(true);
        }}
      >
        <Icon name="search" />
      </button>
      {isOpen && (
        <GoToDialog
          {...props}
          onClose={() => {
            setOpen(false);
          }}
        />
      )}
    </>
  );
}

function GoToDialog({ me, pages, onClose }: GoToProps & { onClose: () => void }) {
  const [text, setText] = useState("");
  const wanted = text.trim().toLowerCase();
  const { found, error } = useFound(wanted, me);
  const places = [
    ...Object.entries(pages)
      .filter(([, title]) => title.toLowerCase().startsWith(wanted))
      .map(([page, title]) => ({ kind: "page", name: title, href: `#/${page}` })),
    ...(found ?? []),
  ];
  return (
    <Dialog title={me.partner === null ? "Go to a page or partner" : "Go to a page, user or batch"} onCancel={onClose}>
      <div onKeyDown={moveBetweenLinks}>
        <Form
          role="search"
          onSubmit={() => {
            document.querySelector<HTMLElement>(".places a")?.click();
          }}
        >
          <TextField
            label="Name or id"
            hint="The beginning is enough, also of a batch’s root. Enter opens the first result, and the arrow keys lead to the others."
            value={text}
            onInput={setText}
          />
        </Form>
        <p role="status" class={places.length > 0 ? "visually-hidden" : "detail"}>
          {places.length > 0
            ? plural(places.length, "result")
            : found === undefined
              ? "Searching…"
              : "Nothing has a name or id that begins like this."}
        </p>
        <ul class="places" onClick={onClose}>
          {places.map(({ kind, name, href }) => (
            <li key={href}>
              <a href={href} {...(!href.startsWith("#") && { rel: "noreferrer", target: "_blank" })}>
                {kind === "page" || kind === "partner" ? name : <code>{name}</code>} <span class="badge">{kind}</span>
              </a>
            </li>
          ))}
        </ul>
        <Failure error={error} />
      </div>
    </Dialog>
  );
}

/** Asks the service for users, batches or partners. `found` is undefined until it has answered for this text. */
function useFound(text: string, me: Me): { found?: Place[]; error?: CallError } {
  const [answer, setAnswer] = useState<{ text: string; found: Place[]; error?: CallError }>({ text: "", found: [] });
  useEffect(() => {
    if (text === "") return undefined;
    let isCurrent = true;
    const timer = setTimeout(() => {
      (me.partner === null ? findPartners(text) : findUsersAndBatches(text, me)).then(
        (found) => {
          if (isCurrent) setAnswer({ text, found });
        },
        (reason: unknown) => {
          if (isCurrent) setAnswer({ text, found: [], error: toCallError(reason) });
        },
      );
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text]);
  return text === "" ? { found: [] } : text === answer.text ? answer : {};
}

async function findPartners(search: string): Promise<Place[]> {
  const { partners } = await call("/v1/admin/partners/list", { search, limit: MOST });
  return partners.map(({ biz_id, name }) => ({ kind: "partner", name, href: `#/partners/${biz_id}` }));
}

async function findUsersAndBatches(text: string, me: Me): Promise<Place[]> {
  const found = await Promise.all([findUsers(text), findBatches(text.replace(/^0x/, ""), me.explorer_url)]);
  return found.flat();
}

async function findUsers(text: string): Promise<Place[]> {
  const whole = readUserID(text);
  const toPlace = (id: string): Place => ({ kind: "user", name: id, href: `#/users/${id}` });
  if ("userID" in whole) return [toPlace(whole.userID)];
  if (!isBeginningOfUserID(text)) return [];
  const { users } = await call("/v1/dashboard/users/list", { prefix: text, limit: MOST });
  return users.map(({ user_id }) => toPlace(user_id));
}

/** Finds the newest batches whose roots begin with a text. @param explorer the explorer, which shows batches */
async function findBatches(beginning: string, explorer: string | null): Promise<Place[]> {
  if (beginning.length < SHORTEST_ROOT || !/^[0-9a-f]{1,64}$/.test(beginning)) return [];
  const { batches } = await call("/v1/dashboard/publishing/listBatches", { limit: NEWEST_BATCHES });
  const roots = new Set(batches.map(({ root }) => root).filter((root) => root.startsWith(beginning)));
  return [...roots].map((root) => ({
    kind: "batch",
    name: shorten(root, 16, 8),
    href: explorer === null ? "#/publishing" : `${explorer}#/batch/${root}`,
  }));
}

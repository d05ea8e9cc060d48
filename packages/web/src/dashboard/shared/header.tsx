import { useEffect, useState } from "preact/hooks";
import favicon from "../../shared/favicon.svg";
import { useRoute } from "../../shared/router.ts";
import { call, type Me } from "./api.ts";
import { Failure } from "./cards.tsx";
import { GoTo } from "./goTo.tsx";
import { useAction } from "./useCall.ts";

interface HeaderProps {
  /** The signed-in person. Undefined or null before the person has signed in. */
  me: Me | null | undefined;
  /**
   * The titles of the pages. The keys are the pages' names in the address. Undefined for a header without links to
   * pages.
   */
  pages: Readonly<Record<string, string>> | undefined;
  /** The current page's name in the address. */
  page: string;
  onSignedOut: () => void;
}

/** The page header in one row. On narrow windows, a button opens the pages as a menu. */
export function Header({ me, pages, page, onSignedOut }: HeaderProps) {
  const [isOpen, setOpen] = useState(false);
  const route = useRoute();
  useEffect(() => {
    setOpen(false);
  }, [route, me]);
  return (
    <header
      class="header"
      onKeyDown={({ key }) => {
        if (key === "Escape") setOpen(false);
      }}
    >
      <a class="brand" href="#/">
        <img src={favicon} alt="" width="28" height="28" /> Keyroot
        {me && <Place me={me} />}
      </a>
      {(pages ?? me) && (
        <>
          {me && pages && <GoTo me={me} pages={pages} />}
          <button
            type="button"
            class="button button-small menu-button"
            aria-expanded={isOpen}
            aria-controls="menu"
            onClick={() => {
              setOpen(!isOpen);
            }}
          >
            Menu
          </button>
          <div id="menu" class={isOpen ? "menu menu-open" : "menu"}>
            {pages && (
              <nav aria-label="Pages">
                {Object.entries(pages).map(([name, text]) => (
                  <a key={name} href={`#/${name}`} aria-current={name === page ? "page" : undefined}>
                    {text}
                  </a>
                ))}
              </nav>
            )}
            {me && <SignedIn me={me} onSignedOut={onSignedOut} />}
          </div>
        </>
      )}
    </header>
  );
}

/** Where the person is: company, stage and chain. */
function Place({ me: { partner, stage, chain_id } }: { me: Me }) {
  const place = [
    partner === null ? "operator" : partner.name,
    stage,
    ...(chain_id === null ? [] : [`chain ${chain_id}`]),
  ];
  return (
    <span class="place" title={place.join(" · ")}>
      {place[0]}
      <small>{place.slice(1).join(" · ")}</small>
    </span>
  );
}

function SignedIn({ me, onSignedOut }: { me: Me } & Pick<HeaderProps, "onSignedOut">) {
  const { run, busy, error } = useAction(async () => {
    await call("/v1/dashboard/session/end", {});
    onSignedOut();
  });
  return (
    <div class="signed-in">
      <span class="signed-in-name" title={me.person.name}>
        {me.person.name}
      </span>
      <button type="button" class="button button-small" disabled={busy} onClick={() => void run()}>
        Sign out
      </button>
      <Failure error={error} />
    </div>
  );
}

import type { Page } from "playwright-core";

/**
 * Terms that visitors may not know, with their forms. Each page must explain each of its terms once, with a `<dfn>`. If
 * you add a `<dfn>`, add its term to this list.
 */
const TERMS: Readonly<Record<string, string>> = {
  chain: "(?:block)?chain",
  block: "blocks?",
  endpoint: "(?<!webhook )endpoints?",
  "webhook endpoint": "webhook endpoints?",
  contract: "contract",
  root: "(?:merkle )?roots?",
  hash: "hash(?:es)?",
  "Merkle tree": "merkle trees?",
  "Merkle-tree file": "merkle-tree files?",
  leaf: "leaf|leaves(?! your)",
  sibling: "siblings?",
  record: "(?<!public )records?",
  "public key": "public keys?",
  "key id": "key ids?",
  evidence: "evidence",
  "storage proof": "storage proofs?",
  proof: "(?<!storage )proofs?",
  bundle: "bundles?",
  "safety code": "safety codes?",
  passkey: "passkeys?",
  biz_id: "biz_id|business identifier",
  "server token": "server tokens?",
  "access token": "access tokens?",
  "refresh token": "refresh tokens?",
  "hold period": "hold periods?",
  "conflicting key": "conflicting keys?",
  batch: "batch(?:es)?",
  transaction: "transactions?",
  gas: "gas",
  webhook: "webhooks?(?! endpoint)",
  event: "events?",
  delivery: "deliver(?:y|ies)",
  "audit log": "audit log",
};

/** Selectors of texts that need no explanation: values, commands, audit log entries, and errors' messages. */
const QUOTES =
  ".number, .todo, .badge, .words, summary, svg, option, code, pre, .back, [data-entry], [role=alert], p:has(> .error-code), .step-result > .detail, .verdict .detail";

/**
 * Returns the terms that the page uses without an explanation, with the text where they first appear, and the terms
 * that it explains twice.
 * @param known terms that an earlier page explained to all visitors of this page
 */
export async function unexplainedTerms(page: Page, known: readonly string[] = []): Promise<string[]> {
  return page.evaluate(
    ({ terms, quotes, known }) => {
      const main = document.querySelector("main");
      if (main === null) return ["The page has no main element."];
      const dfns = [...main.querySelectorAll("dfn")].filter((dfn) => dfn.checkVisibility());
      const patterns = Object.entries(terms).map(([term, forms]) => [term, `(?:${forms})`] as const);
      const unlisted = dfns.filter(
        ({ textContent }) => !patterns.some(([, forms]) => new RegExp(`^${forms}$`, "i").test(textContent)),
      );
      const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
      const first = new Map<string, Element>();
      while (walker.nextNode()) {
        const { parentElement: element, textContent } = walker.currentNode;
        if (!element?.checkVisibility() || element.closest(quotes)) continue;
        for (const [term, forms] of patterns) {
          if (!first.has(term) && new RegExp(`(?<![\\w-])${forms}(?![\\w-])`, "i").test(textContent ?? ""))
            first.set(term, element);
        }
      }
      const missing = patterns.flatMap(([term, forms]) => {
        const element = first.get(term);
        if (element === undefined || known.includes(term)) return [];
        const explained = dfns.filter((dfn) => new RegExp(`^${forms}$`, "i").test(dfn.textContent));
        // Parts that a person opened may explain a term again.
        const always = explained.filter((dfn) => dfn.closest("details, dialog") === null);
        if (explained.length > 0 && always.length < 2) return [];
        return [`${term}${always.length > 1 ? ", explained twice" : ""}: ${element.textContent}`];
      });
      return [...unlisted.map(({ textContent }) => `not in the list of terms: ${textContent}`), ...missing];
    },
    { terms: TERMS, quotes: QUOTES, known },
  );
}

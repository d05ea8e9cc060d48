import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/**
 * Sets the window's title, and starts each new page at its top, as after loading one: the focus goes to its content. Not
 * at the first page, which the browser announces.
 * @param place changes with the page
 * @returns for the page's content
 */
export function usePage(title: string, place: string): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = title;
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [title, place]);
  return main;
}

/** A link to the content, for people who use the keyboard. It shows when it has the focus. */
export function SkipLink({ main }: { main: RefObject<HTMLElement | null> }) {
  return (
    <a
      class="skip"
      href="#main"
      onClick={(event) => {
        // A fragment would be a route.
        event.preventDefault();
        main.current?.focus();
      }}
    >
      Skip to the content
    </a>
  );
}

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/**
 * Sets the window's title. On every page except the first, it also focuses the content and scrolls to the top, as
 * browsers do after they load a page.
 * @param place a value that changes with the page
 * @returns the reference for the element that contains the page's content
 */
export function usePage(title: string, place: string): RefObject<HTMLElement | null> {
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  // The title changes with the content, and before useSubject replaces its beginning.
  useLayoutEffect(() => {
    document.title = title;
    if (!isFirst.current) {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    isFirst.current = false;
  }, [title, place]);
  return main;
}

/** Puts the subject's name in place of the id at the beginning of the window's title, as soon as the name is known. */
export function useSubject(subject: string | undefined): void {
  useEffect(() => {
    if (subject !== undefined) document.title = [subject, ...document.title.split(" · ").slice(1)].join(" · ");
  }, [subject]);
}

/** A link to the content for keyboard users. The link is visible only while it has the focus. */
export function SkipLink({ main }: { main: RefObject<HTMLElement | null> }) {
  return (
    <a
      class="skip"
      href="#main"
      onClick={(event) => {
        // The default action would change the route.
        event.preventDefault();
        main.current?.focus();
      }}
    >
      Skip to the content
    </a>
  );
}

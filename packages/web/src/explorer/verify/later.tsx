import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/**
 * Renders the children in a separate task, after the rest of the page is visible. Use it for the lower parts of a page.
 * Otherwise, a single task would block the page for a long time.
 */
export function Later({ children }: { children: ComponentChildren }) {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    // All effects after a frame run in one task, so a timer starts a new task.
    const timer = setTimeout(() => {
      setDrawn(true);
    });
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return isDrawn ? <>{children}</> : null;
}

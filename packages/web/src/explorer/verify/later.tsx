import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/**
 * Renders its children in a separate task, after the rest of the page is visible. Parts further down the page use it, so that
 * no task blocks the page for long.
 */
export function Later({ children }: { children: ComponentChildren }) {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    // All effects after a frame run in one task, so a timer starts the next one.
    const timer = setTimeout(() => {
      setDrawn(true);
    });
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return isDrawn ? <>{children}</> : null;
}

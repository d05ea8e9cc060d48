import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/**
 * Draws its children in a task of their own, once the rest of the page is on the screen. For what is further down the page: it
 * moves nothing that visitors see, and no task keeps them waiting for long.
 */
export function Later({ children }: { children: ComponentChildren }) {
  const [isDrawn, setDrawn] = useState(false);
  useEffect(() => {
    // Effects run after the frame, those of all components in one task.
    const timer = setTimeout(() => {
      setDrawn(true);
    });
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return isDrawn ? <>{children}</> : null;
}

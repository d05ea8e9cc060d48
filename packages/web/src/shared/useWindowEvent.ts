import { useEffect } from "preact/hooks";

/** Listens to an event of the window while the component is rendered. The latest listener gets each event. */
export function useWindowEvent<Name extends keyof WindowEventMap>(
  name: Name,
  listener: (event: WindowEventMap[Name]) => void,
): void {
  useEffect(() => {
    addEventListener(name, listener);
    return () => {
      removeEventListener(name, listener);
    };
  });
}

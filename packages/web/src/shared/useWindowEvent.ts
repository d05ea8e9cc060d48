import { useEffect } from "preact/hooks";

/** Listens to a window event while the component is rendered. The component's latest listener receives each event. */
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

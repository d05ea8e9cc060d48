import { useEffect, useState } from "preact/hooks";

/** The parts of the route in the address's fragment: `#/verify/abc` is ["verify", "abc"]. */
export type Route = readonly string[];

/** A route that cannot be decoded is the start page. */
function currentRoute(): Route {
  try {
    return decodeURIComponent(location.hash)
      .replace(/^#\/?/, "")
      .split("/")
      .filter((part) => part !== "");
  } catch {
    return [];
  }
}

/** The current route. It is in the fragment, which browsers send to no server. */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const update = () => {
      setRoute(currentRoute());
    };
    addEventListener("hashchange", update);
    return () => {
      removeEventListener("hashchange", update);
    };
  }, []);
  return route;
}

/** Goes to a route, such as `verify/abc`. */
export function go(route: string): void {
  location.hash = `#/${route}`;
}

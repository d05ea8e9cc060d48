import { useEffect, useState } from "preact/hooks";

/** The parts of the route in the address's fragment: `#/verify/abc` is ["verify", "abc"]. */
export type Route = readonly string[];

/** The route in the address. If it cannot be decoded, a route that no page has. */
function currentRoute(): Route {
  try {
    return decodeURIComponent(location.hash)
      .replace(/^#\/?/, "")
      .replace(/\?.*$/s, "")
      .split("/")
      .filter((part) => part !== "");
  } catch {
    return ["?"];
  }
}

/** The current route. It is the address's fragment, which browsers send to no server. */
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

/** The fields after the route: `#/users?state=ready` has `state`. */
export function useFields(): URLSearchParams {
  // The hook renders again when the address changes.
  useRoute();
  return new URLSearchParams(/\?(.*)$/s.exec(location.hash)?.[1]);
}

/** Goes to a route, such as `verify/abc` or `users?state=ready`. */
export function go(route: string): void {
  location.hash = `#/${route}`;
}

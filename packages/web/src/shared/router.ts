import { useState } from "preact/hooks";
import { useWindowEvent } from "./useWindowEvent.ts";

/** The parts of the route in the address's fragment. The route of `#/verify/abc` is ["verify", "abc"]. */
export type Route = readonly string[];

/** Returns the route in the address. If the route cannot be decoded, returns a route that matches no page. */
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

/**
 * Returns the current route. The route is in the address's fragment, because browsers do not send fragments to servers.
 */
export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useWindowEvent("hashchange", () => {
    setRoute(currentRoute());
  });
  return route;
}

/** Returns the fields after the route. In `#/users?state=ready`, the only field is `state`. */
export function useFields(): URLSearchParams {
  // The `useRoute` hook causes a new rendering when the address changes.
  useRoute();
  return new URLSearchParams(/\?(.*)$/s.exec(location.hash)?.[1]);
}

/** Opens a page with fields after its name, such as a filter. Empty fields are omitted. */
export function goWith(page: string, fields: Readonly<Record<string, string | undefined>>): void {
  const given = Object.entries(fields).filter((field): field is [string, string] => Boolean(field[1]));
  go(`${page}?${new URLSearchParams(given).toString()}`.replace(/\?$/, ""));
}

/** Opens a route, such as `verify/abc` or `users?state=ready`. */
export function go(route: string): void {
  location.hash = `#/${route}`;
}

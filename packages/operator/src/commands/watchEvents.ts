import { printable } from "keyroot/internal/input";
import type { WatchEvent } from "../watch/watch.ts";
import { formatCount, plural } from "../plural.ts";
import { style } from "./output.ts";

/**
 * Returns a function that turns events into lines of text. By default, each poll has one line with the numbers of new
 * roots and published keys. With `verbose`, each root and each user has its own line. The line of a watched user with a
 * new root is always printed if the root's file or the endpoint is unavailable.
 */
export function eventDescriber(verbose: boolean): (event: WatchEvent) => string[] {
  const assigned = new Map<string, string[]>();
  const take = (root: string) => {
    const lines = assigned.get(root) ?? [];
    assigned.delete(root);
    return lines;
  };
  return (event) => {
    const line = describeEvent(event);
    if (verbose) return [line];
    switch (event.event) {
      case "assigned":
        assigned.set(event.root, [...(assigned.get(event.root) ?? []), line]);
        return [];
      case "rootAdded":
      case "published":
        return [];
      case "fileUnavailable":
        return [...take(event.root), line];
      case "unavailable":
        return [...[...assigned.keys()].flatMap(take), line];
      case "polled":
        assigned.clear();
        return [line];
      default:
        return [line];
    }
  };
}

function describeEvent(event: WatchEvent): string {
  switch (event.event) {
    case "polled": {
      const { blockNumber, rootsAdded, usersAdded, publishedUsers, watchedUsers, alarms, unavailableFiles } = event;
      const added = `${plural(rootsAdded, "new root")} with ${plural(usersAdded, "user")}`;
      const published = `${publishedUsers} of ${plural(watchedUsers, "watched key")} published`;
      const unavailable = unavailableFiles === 0 ? "" : `, ${plural(unavailableFiles, "unavailable file")}`;
      return `block ${formatCount(blockNumber)}  ${added}, ${published}, ${plural(alarms, "alarm")}${unavailable}`;
    }
    case "assigned":
      return `assigned  ${event.userID} has the root ${event.root} on the chain`;
    case "fileUnavailable":
      return `${style("notice", "unavailable")}  the file of ${event.root}, since ${event.since}: ${event.code}: ${printable(event.message)}`;
    case "rootAdded":
      return `root ${event.root}  ${plural(event.addedCount, "user")} in block ${formatCount(event.blockNumber)}`;
    case "published":
      return `published  ${event.userID} has the root ${event.root}, with their own key`;
    case "alarm":
      return `${style("alarm", "ALARM")}  ${event.code}: ${printable(event.message)}`;
    case "stillOpen":
      return `${style("alarm", "still open")}  ${event.code}: ${printable(event.message)}`;
    case "notice":
      return `${style("notice", "notice")}  ${event.code}: ${printable(event.message)}`;
    case "unavailable":
      return `${style("notice", "unavailable")}  ${event.code}: ${printable(event.message)} Next try in ${event.retryInMs} ms.`;
    case "recovered":
      return style("success", "available again");
  }
}

import { printable } from "keyroot/input";
import type { WatchEvent } from "../audit/watch.ts";
import { plural } from "../plural.ts";
import { style } from "./style.ts";

/** Whether the summary of a poll counts this event. With many users, there are many of these. */
export function isCounted({ event }: WatchEvent): boolean {
  return event === "rootAdded" || event === "published";
}

/** An event of `watch` as one line of text. */
export function describeEvent(event: WatchEvent): string {
  switch (event.event) {
    case "polled": {
      const { blockNumber, rootsAdded, usersAdded, publishedUsers, watchedUsers, alarms } = event;
      const added = `${plural(rootsAdded, "new root")} with ${plural(usersAdded, "user")}`;
      const published = `${publishedUsers} of ${plural(watchedUsers, "watched key")} published`;
      return `block ${blockNumber}  ${added}, ${published}, ${plural(alarms, "alarm")}`;
    }
    case "rootAdded":
      return `root ${event.root}  ${plural(event.addedCount, "user")} in block ${event.blockNumber}`;
    case "published":
      return `published  ${event.userID} has the root ${event.root}, with their own key`;
    case "alarm":
      return `${style("alarm", "ALARM")}  ${event.code}: ${printable(event.message)}`;
    case "notice":
      return `${style("notice", "notice")}  ${event.code}: ${printable(event.message)}`;
    case "unavailable":
      return `${style("notice", "unavailable")}  ${event.code}: ${printable(event.message)} Next try in ${event.retryInMs} ms.`;
    case "recovered":
      return style("success", "available again");
  }
}

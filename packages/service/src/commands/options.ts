/** The options that several commands of the service share. */
import { text } from "@keyroot/operator/definition";

export const serviceUrl = text(
  "url",
  "URL of the partner service. Set KEYROOT_ADMIN_TOKEN to the service's admin token",
  {
    variable: "KEYROOT_SERVICE_URL",
  },
);
export const bizID = text("id", "Id of the partner, as create-partner and list-partners print it");

/** What a command about one partner needs. */
export const OF_PARTNER = ["bizID", "serviceUrl"];

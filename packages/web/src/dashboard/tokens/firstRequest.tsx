import type { AnswerOf } from "@keyroot/service";
import { useEffect } from "preact/hooks";
import { Value } from "../../shared/copyable.tsx";
import { Fact, Facts } from "../../shared/facts.tsx";
import { Icon } from "../../shared/icon.tsx";
import { CodeTabs } from "../shared/codeTabs.tsx";
import { firstRequestCommand, firstRequestProgram } from "../shared/exampleCommands.ts";
import { useLoaded } from "../shared/useCall.ts";

/** Time in ms between two calls that ask whether a token was used. */
const POLL_MS = 2000;

interface FirstRequestProps {
  bizID: string;
  token: AnswerOf<"/v1/dashboard/serverTokens/create">;
}

/** What a server needs for its first request with a new token, and whether the request has arrived. */
export function FirstRequest({ bizID, token: { token, token_id, created } }: FirstRequestProps) {
  const { data, reload } = useLoaded("/v1/authdBizSrv/serverTokens/list", { since: created });
  const isUsed = data?.tokens.some((listed) => listed.token_id === token_id && listed.last_used !== null) === true;
  useEffect(() => {
    if (isUsed) return undefined;
    const timer = setInterval(reload, POLL_MS);
    return () => {
      clearInterval(timer);
    };
  }, [isUsed]);
  return (
    <>
      <Facts>
        <Fact name="Business identifier, not a secret" isWide>
          <Value value={bizID} name="biz_id of the request" />
        </Fact>
      </Facts>
      <CodeTabs codes={{ curl: firstRequestCommand(bizID, token), JavaScript: firstRequestProgram(bizID) }} />
      <p class={isUsed ? "first-use first-used" : "first-use"} role="status">
        {isUsed ? (
          <>
            <Icon name="check" /> The first request has arrived.
          </>
        ) : (
          "Waiting for the first request…"
        )}
      </p>
    </>
  );
}

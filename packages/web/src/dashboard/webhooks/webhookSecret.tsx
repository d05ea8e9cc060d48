import { useCallback } from "preact/hooks";
import { Secret } from "../parts.tsx";

interface WebhookSecretProps {
  secret: string;
  setSecret: (secret: undefined) => void;
}

/** The secret of an endpoint, until Done. */
export function WebhookSecret({ secret, setSecret }: WebhookSecretProps) {
  const forget = useCallback(() => {
    setSecret(undefined);
  }, [setSecret]);
  return (
    <Secret title="The endpoint’s secret" name="the secret" value={secret} onDone={forget}>
      <p>
        Your server verifies with it that a request comes from this service. Store it there now. It is shown until you
        click Done, and can never be shown again.
      </p>
    </Secret>
  );
}

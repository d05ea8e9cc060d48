import { config, endpoints } from "./config.ts";

/**
 * If visitors can add endpoints, the page's policy allows all https hosts. This function adds a policy that allows the
 * named hosts only. Browsers enforce both (W3C, Content Security Policy Level 3, section 8.1).
 */
export function narrowPolicy(): void {
  if (config.visitorEndpoints !== true) return;
  const attacks = config.attacks?.flatMap(({ rpc, merkleUrl }) => [rpc, merkleUrl]) ?? [];
  const origins = [...endpoints(), config.merkleUrl, ...attacks].map((url) => new URL(url).origin);
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = `connect-src 'self' ${[...new Set(origins)].join(" ")}`;
  document.head.append(meta);
}

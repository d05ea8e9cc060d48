import { config, endpoints } from "./config.ts";

/**
 * Adds a policy that allows only the hosts of the configuration and the visitor's endpoints. If visitors can add
 * endpoints, the page's own policy allows all https hosts. Browsers enforce both policies, so the narrower one applies
 * (W3C, Content Security Policy Level 3, section 8.1).
 */
export function narrowPolicy(): void {
  if (config.visitorEndpoints !== true) return;
  const { merkleUrl, lightClient, auditors, attacks } = config;
  const folders = [
    merkleUrl,
    ...(lightClient?.urls ?? []),
    ...(auditors?.urls ?? []),
    ...(attacks ? [attacks.url] : []),
  ];
  const origins = [...endpoints(), ...folders].map((url) => new URL(url).origin);
  const meta = document.createElement("meta");
  meta.httpEquiv = "Content-Security-Policy";
  meta.content = `connect-src 'self' ${[...new Set(origins)].join(" ")}`;
  document.head.append(meta);
}

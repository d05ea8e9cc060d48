let token: string | undefined;

/**
 * Takes the token of an invitation out of the address, so that neither the history nor a screenshot has it. It is kept in
 * memory until it is used.
 */
export function takeInvitation(): string | undefined {
  const [, found] = /^#\/invitation\/([A-Za-z0-9_-]{1,64})$/.exec(location.hash) ?? [];
  if (found !== undefined) {
    token = found;
    history.replaceState(null, "", "#/invitation");
  }
  return token;
}

/** Forgets the token. */
export function forgetInvitation(): void {
  token = undefined;
}

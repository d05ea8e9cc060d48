/** A fetch as React Native's: it follows redirects, reads the whole body, and has neither streams nor `redirected`. */
export const phoneFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: "follow" });
  const { status, headers, url } = response;
  const bytes = await response.arrayBuffer();
  return { type: "default", status, headers, url, arrayBuffer: () => Promise.resolve(bytes) } as Response;
};

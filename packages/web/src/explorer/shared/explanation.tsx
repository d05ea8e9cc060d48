import { describeError } from "keyroot";
import type { ComponentChildren } from "preact";
import type { Failure } from "../worker/messages.ts";

interface ExplanationProps {
  failure: Pick<Failure, "advice" | "code" | "message">;
  /** Replaces the error's message. */
  children?: ComponentChildren;
}

/** Says what an error means for the visitor and what to do, with its code and its message as a detail. */
export function Explanation({ failure, children }: ExplanationProps) {
  const { advice, code, message } = failure;
  const { title, text } = advice === "developer" ? PAGE_FAULT : describeError(failure);
  return (
    <>
      <p>
        <b>{title}.</b> {text}
      </p>
      <p class="detail">
        <code class="error-code">{code}</code> {children === undefined && message}
      </p>
      {children}
    </>
  );
}

/** The library would blame the visitor's app. */
const PAGE_FAULT = {
  title: "This page is not set up correctly",
  text: "Nothing is known about the key, so tell the people who run this page.",
};

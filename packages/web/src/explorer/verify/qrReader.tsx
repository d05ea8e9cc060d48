import { useEffect, useRef, useState } from "preact/hooks";
import { Field } from "../../shared/form.tsx";
import { formatBytes } from "../../shared/format.ts";
import { callWorker } from "../shared/callWorker.ts";

/**
 * The maximum size of a picture file in bytes, and the maximum length of a picture's longer side in pixels. Larger
 * pictures are scaled down to this length.
 */
const MAX_PICTURE_BYTES = 20_000_000;
const MAX_PIXELS = 1600;
/** Time between two looks at the camera's picture, in ms. */
const LOOK_MS = 200;

/** What a visitor can do after the camera failed, by the errors of the W3C's Media Capture and Streams. */
const CAMERA_ERRORS: Readonly<Record<string, string>> = {
  NotAllowedError:
    "The browser may not use the camera. Allow it for this page beside the address, or choose a picture.",
  NotFoundError: "This device has no camera. Choose a picture of the code instead.",
  NotReadableError: "Another program uses the camera. Close that program, or choose a picture of the code.",
  SecurityError: "Browsers give the camera only to pages with https. Choose a picture of the code instead.",
};

/** Reads a QR code with the camera, or from a picture that the visitor chooses. */
export function QrReader({ onText }: { onText: (text: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<string>();
  const take = (text: string) => {
    setOpen(false);
    setError(undefined);
    onText(text);
  };
  const readPicture = async (file: File | undefined) => {
    if (file === undefined) return;
    setOpen(false);
    setError(undefined);
    try {
      const text = await readFile(file);
      if (text === undefined) setError("The picture has no readable QR code. Take it closer and without reflections.");
      else take(text);
    } catch (error) {
      setError(error instanceof RangeError ? error.message : "This file is not a picture that the browser can open.");
    }
  };
  return (
    <div class="qr-reader">
      <button
        type="button"
        class="button"
        aria-expanded={isOpen}
        onClick={() => {
          setError(undefined);
          setOpen(!isOpen);
        }}
      >
        {isOpen ? "Stop the camera" : "Scan with the camera"}
      </button>
      {isOpen && (
        <Camera
          onText={take}
          onError={(message) => {
            setOpen(false);
            setError(message);
          }}
        />
      )}
      <Field label="Or a picture of the QR code" error={error}>
        {(attributes) => (
          <input
            {...attributes}
            type="file"
            accept="image/*"
            onChange={({ currentTarget }) => void readPicture(currentTarget.files?.[0])}
          />
        )}
      </Field>
    </div>
  );
}

/** @throws RangeError for a file that is too large; DOMException for a file that is no picture */
async function readFile(file: File): Promise<string | undefined> {
  if (file.size > MAX_PICTURE_BYTES) {
    const [most, actual] = [MAX_PICTURE_BYTES, file.size].map(formatBytes);
    throw new RangeError(`A picture has at most ${most}, but this file has ${actual}.`);
  }
  const whole = await createImageBitmap(file);
  const scale = Math.min(1, MAX_PIXELS / Math.max(whole.width, whole.height));
  const resizeWidth = Math.max(1, Math.round(whole.width * scale));
  const image = scale === 1 ? whole : await createImageBitmap(whole, { resizeWidth, resizeQuality: "high" });
  return callWorker("qr", "readQr", image);
}

interface CameraProps {
  onText: (text: string) => void;
  onError: (message: string) => void;
}

function Camera({ onText, onError }: CameraProps) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const run = async () => {
      try {
        const text = await scan(video.current, signal);
        if (text !== undefined && !signal.aborted) onText(text);
      } catch (error) {
        const { name, message } = error as Error;
        if (!signal.aborted) onError(CAMERA_ERRORS[name] ?? `The camera failed: ${message}. Choose a picture instead.`);
      }
    };
    void run();
    return () => {
      controller.abort();
    };
  }, []);
  return <video ref={video} class="qr-camera" muted playsInline aria-label="The camera’s picture" />;
}

/** Shows the camera's picture until it contains a QR code or the signal aborts. Then releases the camera. */
async function scan(video: HTMLVideoElement | null, signal: AbortSignal): Promise<string | undefined> {
  // Pages without https have no `mediaDevices`.
  const { mediaDevices } = navigator as { mediaDevices?: MediaDevices };
  if (video === null) return undefined;
  if (mediaDevices === undefined) throw new DOMException("There are no media devices.", "SecurityError");
  const stream = await mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  try {
    video.srcObject = stream;
    if (!signal.aborted) await video.play();
    while (!signal.aborted) {
      const text = await callWorker("qr", "readQr", await createImageBitmap(video));
      if (text !== undefined) return text;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return undefined;
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}

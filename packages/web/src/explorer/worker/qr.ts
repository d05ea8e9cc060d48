/** The worker for QR codes. The page loads it only when a visitor opens the safety code. */
import encodeQr from "qr";
import decodeQr from "qr/decode.js";
import { type Handler, serveCalls } from "./serveCalls.ts";

/** The Barcode Detection API (W3C draft), which only some browsers have. */
type BarcodeDetector = new (options: { formats: string[] }) => {
  detect(image: ImageBitmap): Promise<{ rawValue: string }[]>;
};
const { BarcodeDetector: Detector } = globalThis as { BarcodeDetector?: BarcodeDetector };

/** Makes the QR code of a text. Its border is part of it. */
const drawQr: Handler<"drawQr"> = (text) => {
  const rows = encodeQr(text, "raw", { ecc: "medium", border: 4 });
  return Promise.resolve(rows.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join("")));
};

/** Finds a QR code in a picture. */
const readQr: Handler<"readQr"> = async (image) => (await detect(image)) ?? decode(image);

async function detect(image: ImageBitmap): Promise<string | undefined> {
  if (Detector === undefined) return undefined;
  try {
    const [found] = await new Detector({ formats: ["qr_code"] }).detect(image);
    return found?.rawValue;
  } catch {
    // Some browsers have the detector without its service. The library then reads the picture.
    return undefined;
  }
}

function decode(image: ImageBitmap): string | undefined {
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  if (context === null) return undefined;
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  try {
    return decodeQr({ width, height, data });
  } catch {
    // The library throws an error for each picture without a readable code.
    return undefined;
  }
}

serveCalls({ drawQr, readQr });

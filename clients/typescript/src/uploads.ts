import type { Connection, KeyedOptions, Reply } from "./connection.js";
import { UploadError } from "./errors.js";
import { dataOf, type Result } from "./results.js";

/** An image: a Blob or File, or its bytes. */
export type ImageSource = Blob | ArrayBuffer | Uint8Array;

/** The bytes of an image that the API accepts. */
export const IMAGE_BYTES_MAX = 5 * 1024 * 1024;
const SIDE_PIXELS_MAX = 2_048;
const SHRUNK_QUALITY = 0.85;

/**
 * The image as a Blob with the media type of its content.
 *
 * Throws UploadError for anything but a JPEG, PNG or WebP of at most 5 MiB.
 */
export async function imageOf(source: ImageSource): Promise<Blob> {
  const blob = source instanceof Blob ? source : new Blob([new Uint8Array(source)]);
  if (blob.size > IMAGE_BYTES_MAX) {
    throw new UploadError(`The image has ${String(blob.size)} bytes; ${String(IMAGE_BYTES_MAX)} are accepted.`);
  }
  const type = mediaTypeOf(new Uint8Array(await blob.slice(0, 12).arrayBuffer()));
  if (type === undefined) throw new UploadError("The file is no JPEG, PNG or WebP image.");
  return blob.type === type ? blob : new Blob([blob], { type });
}

/**
 * In a browser: the image as a JPEG of at most `sidePixelsMax` pixels in each direction, without its metadata. Photos of
 * phones are larger than the API accepts and slow to send.
 *
 * Throws UploadError for a file that the browser cannot decode.
 */
export async function shrinkImage(source: Blob, sidePixelsMax = SIDE_PIXELS_MAX): Promise<Blob> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(source);
  } catch (cause) {
    throw new UploadError("The file is no image that this browser can read.", { cause });
  }
  const scale = Math.min(1, sidePixelsMax / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  // A JPEG has no transparency: without this it would be black.
  if (context !== null) {
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  }
  bitmap.close();
  const shrunk = await new Promise<Blob | null>((resolve) => {
    canvas.toBlob(resolve, "image/jpeg", SHRUNK_QUALITY);
  });
  if (shrunk === null) throw new UploadError("The image could not be encoded.");
  return shrunk;
}

/** Sends an image as the form field `file`. */
export function upload<Data>(
  connection: Connection,
  path: string,
  source: ImageSource,
  options?: KeyedOptions,
): Result<Data> {
  const send = async (): Promise<Reply> => {
    const form = new FormData();
    form.append("file", await imageOf(source), source instanceof File ? source.name : "image");
    return connection.send("POST", path, { form, isKeyed: true }, options);
  };
  return dataOf(send());
}

function mediaTypeOf(bytes: Uint8Array): string | undefined {
  const text = String.fromCharCode(...bytes);
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("RIFF") && text.slice(8) === "WEBP") return "image/webp";
  return undefined;
}

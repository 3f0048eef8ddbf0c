// What the page of another origin loads.
import { Campus, shrinkImage, TransportError, UploadError } from "campus-client";
import { check, playStory, type Surroundings } from "./story.js";

declare global {
  var sandboxCodeFor: (email: string) => Promise<string>;
  var sandboxPay: (accessCode: string) => Promise<void>;
  var play: (baseUrl: string, password: string) => Promise<void>;
  var closedPort: (baseUrl: string) => Promise<string>;
}

/** A photo with more pixels than a page needs, and a text file by the name of a photo. */
async function photo(): Promise<Blob> {
  const canvas = new OffscreenCanvas(3_000, 1_500);
  canvas.getContext("2d")?.fillRect(100, 100, 500, 500);
  const large = await canvas.convertToBlob({ type: "image/png" });
  const shrunk = await shrinkImage(large);
  const { width, height } = await createImageBitmap(shrunk);
  check(shrunk.type === "image/jpeg" && width === 2_048 && height === 1_024, "the photo is smaller");
  const refused = await shrinkImage(new File(["no image"], "photo.jpg")).catch((error: unknown) => error);
  check(refused instanceof UploadError, "a text is no photo");
  return shrunk;
}

globalThis.play = async (baseUrl, password) => {
  const surroundings: Surroundings = {
    baseUrl,
    password,
    codeFor: globalThis.sandboxCodeFor,
    pay: globalThis.sandboxPay,
    photo,
  };
  await playStory(surroundings);
};

globalThis.closedPort = async (baseUrl) => {
  const error = await new Campus({ baseUrl }).orders.list({}, { retries: 0 }).catch((thrown: unknown) => thrown);
  return error instanceof TransportError ? error.name : String(error);
};

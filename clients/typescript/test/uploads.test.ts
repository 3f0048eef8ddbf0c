import assert from "node:assert/strict";
import { test } from "node:test";
import { Campus, IMAGE_BYTES_MAX, imageOf, UploadError } from "campus-client";
import { lost, ok, startWire } from "./wire.js";

const wire = await startWire();
const campus = new Campus({ baseUrl: wire.url });
const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 1, 2, 3);
const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1);
const webp = new TextEncoder().encode("RIFF\x10\0\0\0WEBPVP8 ");

test("an image is sent as the field file with the media type of its content", async () => {
  wire.answer(ok({ id: "1" }));
  await campus.products.addImage("p", png);
  const received = wire.received[0];
  assert.match(received?.headers["content-type"] ?? "", /^multipart\/form-data; boundary=/);
  const body = received?.body.toString("latin1") ?? "";
  assert.match(body, /name="file"; filename="image"\r\nContent-Type: image\/png\r\n\r\n/);
  assert.ok(body.includes(String.fromCharCode(...png)));
});

test("an upload whose response was lost is repeated under the same key", async () => {
  wire.answer(lost, ok({ id: "1" }));
  await campus.disputes.addEvidence("o", new File([jpeg], "wrong item.jpg", { type: "image/jpeg" }));
  const [first, second] = wire.received;
  assert.equal(second?.headers["idempotency-key"], first?.headers["idempotency-key"]);
  assert.match(second?.body.toString("latin1") ?? "", /filename="wrong item.jpg"\r\nContent-Type: image\/jpeg/);
});

test("the content decides on the media type, not the name", async () => {
  assert.equal((await imageOf(new Blob([webp], { type: "image/jpeg" }))).type, "image/webp");
  assert.equal((await imageOf(jpeg.buffer)).type, "image/jpeg");
});

test("what is no image is not sent", async () => {
  wire.answer(ok({ id: "1" }));
  await assert.rejects(
    Promise.resolve(campus.products.addImage("p", new TextEncoder().encode("%PDF-1.7"))),
    UploadError,
  );
  await assert.rejects(imageOf(new Uint8Array()), UploadError);
  assert.equal(wire.received.length, 0);
});

test("an image of more than 5 MiB is not sent", async () => {
  const large = new Uint8Array(IMAGE_BYTES_MAX + 1);
  large.set(png);
  await assert.rejects(imageOf(large), UploadError);
  assert.equal((await imageOf(large.slice(0, IMAGE_BYTES_MAX))).size, IMAGE_BYTES_MAX);
});

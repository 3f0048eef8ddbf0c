import { when } from "../times.ts";
import type { Action } from "../use-resource.ts";
import { IMAGE_TYPES, PrivateImage } from "./private-image.tsx";
import { Problem } from "./problem.tsx";

interface Photo {
  id: string;
  /** Who sent it, for readers of the screen. */
  from: string;
  createdAt: string;
}

interface Props {
  photos: Photo[];
  load: (id: string, signal: AbortSignal) => Promise<Blob>;
  upload: Action<[File]>;
  mayAdd?: boolean;
}

/** The photos of both sides, and a field that sends another one. */
export function Photos({ photos, load, upload, mayAdd = true }: Props) {
  const choose = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    const image = input.files?.[0];
    if (image) upload.run(image);
    input.value = "";
  };
  return (
    <>
      <ul class="evidence">
        {photos.map(({ id, from, createdAt }) => (
          <li key={id}>
            <PrivateImage id={id} alt={`From ${from}, ${when(createdAt)}`} load={(signal) => load(id, signal)} />
          </li>
        ))}
      </ul>
      <Problem error={upload.error} />
      {mayAdd && (
        <div class="field">
          <label for="more">Add a photo</label>
          <input id="more" type="file" accept={IMAGE_TYPES} disabled={upload.busy} onChange={choose} />
        </div>
      )}
      <p role="status">{upload.busy && "Uploading …"}</p>
    </>
  );
}

import { useEffect, useState } from "preact/hooks";

import { useResource } from "../use-resource.ts";
import { Problem } from "./problem.tsx";

/** An image that only the parties may read: it has no public address, so it is fetched with the token. */
export function PrivateImage({ id, alt, load }: { id: string; alt: string; load: (signal: AbortSignal) => Promise<Blob> }) {
  const image = useResource(load, [id]);
  const [address, setAddress] = useState("");
  useEffect(() => {
    if (!image.data) return;
    const created = URL.createObjectURL(image.data);
    setAddress(created);
    return () => URL.revokeObjectURL(created);
  }, [image.data]);
  return (
    <div class={image.error ? "" : "photo"}>
      <Problem error={image.error} retry={image.reload} />
      {address && <img src={address} alt={alt} />}
    </div>
  );
}

export const IMAGE_TYPES = "image/jpeg,image/png,image/webp";

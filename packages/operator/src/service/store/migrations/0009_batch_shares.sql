CREATE TABLE "batch_shares" (
	"root" text NOT NULL,
	"biz_id" text NOT NULL,
	"region" text NOT NULL,
	"users" integer NOT NULL,
	CONSTRAINT "batch_shares_root_biz_id_region_pk" PRIMARY KEY("root","biz_id","region")
);
--> statement-breakpoint
ALTER TABLE "batches" ADD COLUMN "confirmed" bigint;--> statement-breakpoint
ALTER TABLE "batches" ADD COLUMN "gas_used" bigint;--> statement-breakpoint
ALTER TABLE "batches" ADD COLUMN "cost" numeric(40, 0);--> statement-breakpoint
ALTER TABLE "batches" ADD COLUMN "added_count" integer;--> statement-breakpoint
ALTER TABLE "batch_shares" ADD CONSTRAINT "batch_shares_root_batches_root_fk" FOREIGN KEY ("root") REFERENCES "public"."batches"("root") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "batch_shares_of_partner" ON "batch_shares" USING btree ("biz_id");
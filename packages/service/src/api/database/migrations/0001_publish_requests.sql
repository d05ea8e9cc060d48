CREATE TABLE "publish_requests" (
	"id" serial PRIMARY KEY NOT NULL,
	"author" jsonb NOT NULL,
	"requested" bigint NOT NULL,
	"started" bigint,
	"ended" bigint,
	"batches" jsonb,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "publisher_reports" (
	"name" text PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL,
	"report" jsonb NOT NULL
);
--> statement-breakpoint
CREATE TABLE "publishing_failures" (
	"code" text PRIMARY KEY NOT NULL,
	"count" bigint NOT NULL
);
--> statement-breakpoint
CREATE INDEX "open_publish_requests" ON "publish_requests" USING btree ("id") WHERE "publish_requests"."ended" is null;
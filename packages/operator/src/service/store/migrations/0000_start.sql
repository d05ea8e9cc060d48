CREATE TABLE "attempts" (
	"id" serial PRIMARY KEY NOT NULL,
	"region" text NOT NULL,
	"attempt" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "batches" (
	"root" text PRIMARY KEY NOT NULL,
	"created" bigint NOT NULL,
	"transaction_hash" text,
	"block_number" integer
);
--> statement-breakpoint
CREATE TABLE "partners" (
	"biz_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"created" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plans" (
	"region" text PRIMARY KEY NOT NULL,
	"plan" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "public_keys" (
	"user_id" text PRIMARY KEY NOT NULL,
	"region" text NOT NULL,
	"pub_key" text NOT NULL,
	"key_id" text NOT NULL,
	"registered" bigint NOT NULL,
	"root" text
);
--> statement-breakpoint
CREATE TABLE "publisher_leases" (
	"name" text PRIMARY KEY NOT NULL,
	"holder" uuid NOT NULL,
	"fence" integer NOT NULL,
	"until" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE UNLOGGED TABLE "rate_limits" (
	"key" text PRIMARY KEY NOT NULL,
	"points" integer NOT NULL,
	"expire" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "server_tokens" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"created" bigint NOT NULL,
	"revoked" bigint,
	"request_hash" text,
	"sealed_token" text,
	"biz_id" text NOT NULL,
	"name" text,
	CONSTRAINT "server_tokens_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "server_tokens_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
CREATE TABLE "user_ids" (
	"user_id" text PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"region" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_tokens" (
	"token_id" uuid PRIMARY KEY NOT NULL,
	"token_hash" text NOT NULL,
	"created" bigint NOT NULL,
	"revoked" bigint,
	"request_hash" text,
	"sealed_token" text,
	"user_id" text NOT NULL,
	"context" text NOT NULL,
	CONSTRAINT "user_tokens_token_hash_unique" UNIQUE("token_hash"),
	CONSTRAINT "user_tokens_request_hash_unique" UNIQUE("request_hash")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"user_id" text PRIMARY KEY NOT NULL,
	"biz_id" text NOT NULL,
	"region" text NOT NULL,
	"bucket" text NOT NULL,
	"salt" text NOT NULL,
	"created" bigint NOT NULL,
	CONSTRAINT "users_bucket_unique" UNIQUE("bucket")
);
--> statement-breakpoint
ALTER TABLE "public_keys" ADD CONSTRAINT "public_keys_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "public_keys" ADD CONSTRAINT "public_keys_root_batches_root_fk" FOREIGN KEY ("root") REFERENCES "public"."batches"("root") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_tokens" ADD CONSTRAINT "server_tokens_biz_id_partners_biz_id_fk" FOREIGN KEY ("biz_id") REFERENCES "public"."partners"("biz_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "user_tokens" ADD CONSTRAINT "user_tokens_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "public_keys_by_root" ON "public_keys" USING btree ("root");--> statement-breakpoint
CREATE INDEX "server_tokens_of_partner" ON "server_tokens" USING btree ("biz_id","token_id");--> statement-breakpoint
CREATE INDEX "user_ids_of_partner" ON "user_ids" USING btree ("biz_id","user_id");--> statement-breakpoint
CREATE INDEX "user_tokens_of_user" ON "user_tokens" USING btree ("user_id","token_id");
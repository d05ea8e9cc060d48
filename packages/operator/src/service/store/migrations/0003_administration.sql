CREATE TABLE "suspensions" (
	"biz_id" text PRIMARY KEY NOT NULL,
	"since" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "user_counts" (
	"biz_id" text NOT NULL,
	"shard" integer NOT NULL,
	"users" bigint NOT NULL,
	CONSTRAINT "user_counts_biz_id_shard_pk" PRIMARY KEY("biz_id","shard")
);
--> statement-breakpoint
ALTER TABLE "partners" ADD COLUMN "user_limit" integer;--> statement-breakpoint
ALTER TABLE "server_tokens" ADD COLUMN "last_used" bigint;--> statement-breakpoint
ALTER TABLE "user_tokens" ADD COLUMN "last_used" bigint;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "deactivated" bigint;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "erased" bigint;